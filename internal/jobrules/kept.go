package jobrules

import "cmp"

// KeptAs returns whose history limits are about a child of a CronJob (C2): Complete or Failed, empty for one that
// runs, and another word for one that no limit counts. As is what its kind says of ends of its own.
func KeptAs[Ending ~string](finished, as Ending) Ending {
	switch finished {
	case "", "Complete", "Failed":
		return finished
	}
	return cmp.Or(as, "Failed")
}
