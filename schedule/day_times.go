package schedule

import "math/bits"

// dayTimes is a set of times of a day: a bit for each minute of each hour.
type dayTimes [24]uint64

func (d *dayTimes) count() (n int) {
	for _, minutes := range d {
		n += bits.OnesCount64(minutes)
	}
	return n
}

// from returns the first time at or after a minute of the day.
func (d *dayTimes) from(minute int) (int, bool) {
	for hour := minute / 60; hour < len(d); hour++ {
		if left := d[hour] >> (minute % 60); left != 0 {
			return minute + bits.TrailingZeros64(left), true
		}
		minute = (hour + 1) * 60
	}
	return 0, false
}

// upTo returns the last time at or before a minute of the day.
func (d *dayTimes) upTo(minute int) (int, bool) {
	for hour := minute / 60; hour >= 0; hour-- {
		if left := d[hour] << (63 - minute%60); left != 0 {
			return minute - bits.LeadingZeros64(left), true
		}
		minute = hour*60 - 1
	}
	return 0, false
}

// before counts the times before a minute of the day.
func (d *dayTimes) before(minute int) (n int64) {
	for _, minutes := range d[:minute/60] {
		n += int64(bits.OnesCount64(minutes))
	}
	return n + int64(bits.OnesCount64(d[minute/60]&(1<<(minute%60)-1)))
}
