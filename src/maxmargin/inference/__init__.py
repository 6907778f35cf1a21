"""Inference: functions of potentials. Nothing here knows of weights or of learning."""
