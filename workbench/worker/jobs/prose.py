"""A fixed English text: the measured prompt is its beginning, and the synthetic tokenizer learns from it.

Changing a letter changes every prompt's hash: records from before and after could not be compared.
"""

PROSE = """\
A language model writes one token at a time. To choose the next token it multiplies a short vector, the \
state of the sentence so far, by one large matrix after another. Each number in those matrices is used \
once for this token, and then it is not needed again until the next token begins. Arithmetic is cheap \
and near; memory is large and far away. So the processor spends most of its time waiting for weights to \
arrive, and the speed of writing is set by how quickly the machine can read its own memory from one end \
to the other.

This gives a simple rule that anybody can check with paper and pencil. Take the bytes that one token \
must read. Take the number of bytes that the memory can deliver in a second. Divide the second by the \
first, and the answer is the most tokens per second that this machine can ever write with this model. It \
is a ceiling, not a promise. A real program stays below it, because launching work costs time, because \
some kernels are slower than the memory that feeds them, and because the machine has other things to do. \
If somebody reports a rate above the ceiling, then either the clock was wrong, or the bytes were counted \
wrongly, or the model did not read what you think it read.

Counting the bytes is where most mistakes are made. A checkpoint on disk holds more than one token \
needs. The table of input vectors is opened at a single row, unless the same table also serves as the \
output layer. A vision tower sleeps while only text is written. A mixture of experts keeps a hundred \
small networks and asks only a few of them for each token. Extra layers that guess several tokens ahead \
may lie in the file and never be loaded. Quantized weights carry scales and offsets beside them, which \
are small but not nothing. The file itself is the witness: its header names every tensor, with its \
shape, its type, and its place, and a reader who adds the right lines gets the right answer before a \
single weight has been loaded.

Measuring has its own traps. The first tokens are slow, because pages are cold and programs are still \
being compiled. The clock must start after the first token and stop after the last one, or the reading \
of the prompt will be mixed with the writing of the answer. Two hundred tokens are better than ten. \
Several repeats are better than one, and the spread between them is part of the result. A fan that \
starts, a battery that runs low, a browser in the background, a screen that draws a picture for every \
token: each of them takes something away, and none of them will say so unless you look. Write down the \
machine, the versions, the temperature, the date, and the exact command, so that another person can \
repeat the work next year and disagree with you in good order.

There is one more habit, and it is the most valuable of all. Say your number before you see the measured \
one. Write it where it cannot be changed, with the time beside it. A prediction that was made in advance \
can be wrong, and a wrong prediction teaches something: a byte you forgot, a kernel you trusted, a cache \
you did not know about. A number that was explained afterwards teaches nothing, since every number can \
be explained afterwards. Students learn this quickly when they shout their guesses across the room and \
the wall shows who was close. Engineers learn it slowly, usually after they have published a figure that \
no memory could have produced.

Good instruments are quiet. They do not disturb what they measure, they say how sure they are, and they \
keep silent about what they do not know. An empty field with a reason is worth more than a zero. A \
warning that comes early is worth more than an apology that comes late. When two methods disagree, show \
both, and let the difference lead you to the cause. When they agree, and a third method that shares \
nothing with them agrees as well, you may begin to believe the result, and you should still keep the raw \
numbers in a drawer.

Old sailors measured their speed with a log, a knotted line, and a small glass of sand. They threw the \
log over the stern, turned the glass, and counted the knots that ran through their fingers before the \
sand was gone. They wrote the count in a book, hour after hour, with the wind and the weather, and from \
that book they found their way home across an ocean that they could not see across. Nobody rewrote a \
line of it to look better. A later line could correct an earlier one, and say why. That book was called \
a log as well, and a ledger of measurements is nothing else: a patient list of what was predicted, what \
was seen, and what it taught.
"""
