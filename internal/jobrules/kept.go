package jobrules

import "cmp"

// KeptAs returns which history limit counts a child of a CronJob (C2): Complete or Failed, empty
// for a child that runs, and another word for a child that no limit counts. Argument as is the
// limit that the child's kind chooses for all other endings.
func KeptAs[Ending ~string](finished, as Ending) Ending {
	switch finished {
	case "", "Complete", "Failed":
		return finished
	}
	return cmp.Or(as, "Failed")
}
