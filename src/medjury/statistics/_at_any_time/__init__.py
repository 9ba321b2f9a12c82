"""What may be looked at again and again: confidence sequences, e-processes and planned looks."""
