//go:build before135

package conformance

import "github.com/robfig/cron/v3"

// parseSchedule reads a schedule as the real controller does.
func parseSchedule(spec string) (cron.Schedule, error) { return cron.ParseStandard(spec) }
