"""The deliberation: points of view, an orchestrator, its questions and its decision."""
