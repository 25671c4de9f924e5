package jobrules

import "cmp"

// KeptAs returns the ending whose history limit counts a child of a CronJob (C2): Complete or
// Failed. It is empty for a child that runs. Any other word means that no limit counts the child.
// Argument as is the result that the child's kind chooses for other endings.
func KeptAs[Ending ~string](finished, as Ending) Ending {
	switch finished {
	case "", "Complete", "Failed":
		return finished
	}
	return cmp.Or(as, "Failed")
}
