package check

// Names are the invariants by their words.
func Names() []string {
	var names []string
	for _, i := range append(append(structure(), punctuality()...), workload()...) {
		names = append(names, i.name)
	}
	return names
}
