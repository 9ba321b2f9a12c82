"""Maps from a judge's scale to the clinicians': each kind of map, fitted on other cases than it is shown on."""
