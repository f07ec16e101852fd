"""What a measurement means: verdict, explanation of an excess, fit, calibration, tables."""
