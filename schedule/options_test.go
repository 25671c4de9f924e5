package schedule

import (
	"reflect"
	"slices"
	"testing"
)

// Each setting is stored, or it would be lost by a round trip.
func TestSchedule_StoresEachOption(t *testing.T) {
	known := []string{"zone", "zoneName", "anchor", "afterAnchor", "gapEnd", "repeated", "kubernetes", "seconds", "specialDays", "notBefore", "notAfter", "also", "except"}
	settings := reflect.TypeFor[settings]()
	for i := range settings.NumField() {
		if name := settings.Field(i).Name; !slices.Contains(known, name) {
			t.Errorf("setting %s is not stored: add it to storedSchedule, and to this list", name)
		}
	}
}
