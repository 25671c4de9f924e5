package jobmodel

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// memoryID is the number of a memory without its expectations, its version and its facts about
// single pods; 0 is the empty memory.
type memoryID uint32

// memoryValues holds the memories as JSON, which contains the planner's unexported fields.
type memoryValues struct {
	values explore.Interned[string, string]
	taken  explore.Cache[string, takenMemory]
}

// takenMemory is a memory, split into a common part and notes about pods.
type takenMemory struct {
	id    memoryID
	notes []uidNote
}

type uidNote struct {
	uid  string
	note notes
}

// memoryLists are the fields of a memory that hold UIDs. A UID in a field is a note about that pod.
var memoryLists = []struct {
	in, field string
	note      notes
}{
	{"", "untracking", noteUntracking},
	{"internal", "handled", noteHandled},
	{"internal.reported", "uncounted", noteReported},
}

// take splits a memory.
func (v *memoryValues) take(m job.Memory) takenMemory {
	m.Expectations, m.Written = expectations.Counts{}, 0
	if m.Equal(job.Memory{}) {
		return takenMemory{}
	}
	text := explore.Text(m)
	return v.taken.Get(text, func() takenMemory { return v.takeText(text) })
}

func (v *memoryValues) takeText(text string) (t takenMemory) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		panic(err)
	}
	if fieldsIn(fields, "internal")["untimed"] != nil {
		panic("a pod of the model has no times")
	}
	for _, list := range memoryLists {
		holder := fieldsIn(fields, list.in)
		uids, _ := holder[list.field].([]any)
		for _, uid := range uids {
			t.notes = append(t.notes, uidNote{uid.(string), list.note})
		}
		delete(holder, list.field)
	}
	rest := explore.Text(fields)
	t.id = memoryID(v.values.Number(rest, func() string { return rest }))
	return t
}

// with rebuilds a memory from its parts. It sorts the UIDs that it gets for each note.
func (v *memoryValues) with(id memoryID, uids func(notes) []string) (m job.Memory) {
	if id == 0 {
		return m
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(v.values.Of(uint32(id))), &fields); err != nil {
		panic(err)
	}
	for _, list := range memoryLists {
		if found := uids(list.note); len(found) > 0 {
			slices.Sort(found)
			fieldsIn(fields, list.in)[list.field] = found
		}
	}
	if err := json.Unmarshal([]byte(explore.Text(fields)), &m); err != nil {
		panic(err)
	}
	return m
}

// fieldsIn returns the fields of a part of a memory. The part is a path of names with dots between
// them.
func fieldsIn(fields map[string]any, part string) map[string]any {
	if part == "" {
		return fields
	}
	part, deeper, _ := strings.Cut(part, ".")
	if fields[part] == nil {
		fields[part] = map[string]any{}
	}
	return fieldsIn(fields[part].(map[string]any), deeper)
}
