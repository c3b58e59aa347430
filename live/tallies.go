//go:build linux

package live

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// tableAttempts is how often a table is read in which rows are moved meanwhile, before it is taken as it is.
const tableAttempts = 5

const tallySize = uint64(unsafe.Sizeof(tally{}))

// tallies adds the rows of one of a processor's tables, given where both are in the file. If a row was moved to another meanwhile it reads the table again.
func (p *Process) tallies(to *[]Tally, processor, table uint64) error {
	for attempt := 1; ; attempt++ {
		before, err := readAs[writer](p, processor, 1)
		if err != nil {
			return err
		}
		found, err := p.rows(table, table+p.head.talliesMost*tallySize)
		if err != nil {
			return err
		}
		after, err := readAs[writer](p, processor, 1)
		if err != nil {
			return err
		}
		if before[0].moving == after[0].moving && before[0].moving%2 == 0 || attempt == tableAttempts {
			*to = append(*to, found...)
			return nil
		}
	}
}

// rows reads the rows in a part of the file. Pages that nothing was written to are left out: nearly all.
func (p *Process) rows(at, end uint64) (found []Tally, err error) {
	const seekData, seekHole = 3, 4
	for at < end {
		from, err := p.file.Seek(int64(at), seekData)
		if errors.Is(err, syscall.ENXIO) || err == nil && uint64(from) >= end {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: %v", p.PID, err)
		}
		to, err := p.file.Seek(from, seekHole)
		if err != nil {
			return nil, fmt.Errorf("process %d: %v", p.PID, err)
		}
		n := (min(uint64(to), end) - uint64(from)) / tallySize
		list, err := readAs[tally](p, uint64(from), n)
		if err != nil {
			return nil, err
		}
		again, err := readAs[tally](p, uint64(from), n)
		if err != nil {
			return nil, err
		}
		for i := range list {
			r := &list[i]
			if r.changing%2 != 0 || r.changing != again[i].changing {
				if r, err = settled[tally](p, uint64(from)+uint64(i)*tallySize); err != nil {
					return nil, err
				}
			}
			if r.key != 0 && r.count > 0 {
				found = append(found, Tally{Function: r.key, By: r.by, Timed: r.timed,
					Sums: Sums{Count: r.count, Sum: r.sum, Min: r.min, Max: r.max, Self: r.self, Errors: r.errors, Panics: r.panics}})
			}
		}
		at = uint64(to)
	}
	return found, nil
}
