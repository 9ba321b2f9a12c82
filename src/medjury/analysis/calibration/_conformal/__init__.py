"""Conformal prediction: which grades, or which interval, might a clinician give?"""
