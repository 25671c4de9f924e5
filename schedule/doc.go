// Package schedule computes when a cron schedule runs: the next run, the previous one, the latest
// one due, the number of runs in a span, and all runs in it. Every answer is exact for every
// schedule in every time zone. The cost does not grow with the number of runs in a span: ten years
// of missed runs are counted as cheaply as a day.
//
//	s, err := schedule.Parse("*/15 8-18 * * 1-5", schedule.WithTimeZone("Europe/Berlin"))
//	...
//	if run, ok := s.Latest(lastRun, now); ok {
//		missed := s.Count(lastRun, now)
//		...
//	}
//	wakeUp := s.Next(now)
//
// The package never reads a clock. Only parsing may read anything but its arguments: the zone
// database, if the zone is given by name. WithLocation avoids that.
//
// # Words
//
// A run is an instant at which the schedule fires. A span (after, until] holds the runs later than
// after and not later than until; all methods with two times use such a span. The wall clock is a
// clock in the schedule's zone. A gap is an interval of wall-clock times that are skipped (clocks
// go forward); an overlap is an interval of times that are shown twice (clocks go back).
//
// # Rules
//
// Parse accepts what the standard parser of github.com/robfig/cron/v3 accepts (S1): five fields,
// names, ranges, lists, steps, "?", descriptors, "@every". If both day of month and day of week are
// restricted, a day that matches either one matches (S2). A schedule that never runs is recognised
// when it is parsed (S3, Schedule.Never). A run is an instant whose wall clock shows a matching
// minute and second zero (S4): a time in a gap does not run, a time in an overlap runs twice;
// options change both. The zone belongs to the schedule, and the location of an argument never
// matters (S5); without an option the zone is UTC. Several schedules can be combined into one, with
// exceptions (Also, Except). WithSeconds allows a field of seconds; jobs then need names with
// seconds (cronjob.NameSeconds). WithSpecialDays allows the last day of the month, the working day
// nearest to a date, and the nth weekday of the month (S6). NotBefore and NotAfter bound the runs.
//
// A status write can fail after a job was created, and a cache can show an older status. Package
// cronjob handles both problems: it plans whole rounds, with policies and history.
//
// All runs are after the zero Time and not after the year 9999 in UTC. Arguments may be any time. A
// method that finds no run returns the zero Time, false or 0.
//
// # Compatibility
//
// The runs of a parsed schedule, the kinds of findings and the fields of ParseError
// are stable. Sentences (Describe, messages) may change.
package schedule
