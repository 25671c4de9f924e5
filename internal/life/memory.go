package life

import "encoding/json"

// Memory is the memory of a loop: the value that the running loop has, and the stored value.
type Memory[M any] struct {
	Value  M
	stored []byte
}

// Start starts the loop with its stored memory. If forget is true, the stored memory is lost.
func (m *Memory[M]) Start(forget bool) {
	var found M
	if forget {
		m.stored = nil
	}
	if m.stored != nil {
		_ = json.Unmarshal(m.stored, &found) // a memory that cannot be read counts as lost
	}
	m.Value = found
}

// Store stores the memory.
func (m *Memory[M]) Store() (err error) {
	m.stored, err = json.Marshal(m.Value)
	return err
}
