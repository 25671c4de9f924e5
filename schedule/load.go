package schedule

import (
	"errors"
	"time"
)

// errMachineZone is the error for "Local", the one name that means another zone on each machine.
var errMachineZone = errors.New("it means another zone on each machine; name the zone")

// loadZone is the only function of this package that reads anything but its arguments:
// time.LoadLocation looks a name up in the zone database of the machine, or in the one built in
// with the import of time/tzdata. Only Parse calls it, for a zone given by name (WithTimeZone, or a
// "TZ=" prefix). As for time.LoadLocation, "" and "UTC" mean UTC and need no database.
func loadZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errMachineZone
	}
	return time.LoadLocation(name)
}
