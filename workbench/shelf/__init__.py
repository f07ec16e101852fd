"""Which checkpoints there are: the Hugging Face cache, directories, the Hub, synthetic ones."""
