"""The closed loop: gate, writer, and a final juror that never saw the loop."""
