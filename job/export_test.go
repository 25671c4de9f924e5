package job

// Census is what a round finds by looking at each pod, for tests outside of the package.
type Census struct{ census }

// TakeCensus takes the census of a snapshot twice: with the shortcuts that a round uses,
// and without any.
func TakeCensus(s *Snapshot) (quick, thorough Census, err error) {
	var memory Memory
	recall(&memory, s)
	for _, c := range []*Census{&quick, &thorough} {
		var known uidTable
		known.learn(&memory, s.Job.Status.UncountedTerminatedPods, UncountedTerminatedPods{}, new(noteList))
		short := shortcuts{}
		if c == &quick {
			short = shortcutsOf(s, &known)
		}
		if err := c.take(s, &known, short); err != nil {
			return Census{}, Census{}, err
		}
	}
	return quick, thorough, nil
}
