"""Real judges on public data: a source is one YAML file in `library/`, its verdicts are those of `validate`."""
