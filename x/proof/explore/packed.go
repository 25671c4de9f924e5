package explore

import (
	"bytes"
	"compress/flate"
	"io"
)

// packer compresses chunks of states that wait to be expanded. States that are found one after the
// other are much alike: they shrink to about a tenth.
type packer[S any] struct {
	out bytes.Buffer
	w   *flate.Writer
	in  bytes.Reader
	r   io.Reader
}

func newPacker[S any]() *packer[S] {
	p := &packer[S]{}
	p.w, _ = flate.NewWriter(&p.out, flate.BestSpeed) // the level is valid
	p.r = flate.NewReader(&p.in)
	return p
}

// pack returns the states in a form that takes less memory.
func (p *packer[S]) pack(states []S) []byte {
	p.out.Reset()
	p.w.Reset(&p.out)
	_, err := p.w.Write(bytesOf(states))
	if err == nil {
		err = p.w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return bytes.Clone(p.out.Bytes())
}

// unpack reads n states into a buffer, which has room for them.
func (p *packer[S]) unpack(packed []byte, buffer []S, n int) []S {
	p.in.Reset(packed)
	err := p.r.(flate.Resetter).Reset(&p.in, nil)
	if err == nil {
		_, err = io.ReadFull(p.r, bytesOf(buffer[:n]))
	}
	if err != nil {
		panic(err) // pack has written it
	}
	return buffer[:n]
}
