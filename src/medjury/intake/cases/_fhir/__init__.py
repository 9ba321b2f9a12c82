"""FHIR: the documents of a resource, a bundle or an exported folder, as rows of cases. Nothing is ever fetched."""
