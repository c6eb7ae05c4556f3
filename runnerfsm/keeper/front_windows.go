package keeper

import "os"

// start starts the command. Ctrl-C reaches it, too, which decides what to do.
func (f *Front) start() error {
	if err := f.cmd.Start(); err != nil {
		return err
	}
	go f.finish()
	return nil
}

func reaped(error) bool { return false }

// sentByTerminal: the console sends Ctrl-C to every program in it, and no other signal can be passed on.
func sentByTerminal(s os.Signal) bool { return s == os.Interrupt }
