package schedule

import (
	"errors"
	"time"
)

// errMachineZone refuses the one name that means something else on every
// machine.
var errMachineZone = errors.New("the zone of the machine is not a zone of its own; name it")

// loadZone is the only place of this package that reads anything from outside
// its arguments: time.LoadLocation looks a name up in the zone database of the
// machine, or in the one built in with the import of time/tzdata. It runs
// during Parse for a zone given by name (WithTimeZone, or a "TZ=" prefix) and
// never afterwards. As for time.LoadLocation, "" and "UTC" mean UTC and need
// no database.
func loadZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errMachineZone
	}
	return time.LoadLocation(name)
}
