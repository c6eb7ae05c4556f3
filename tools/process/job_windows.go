package process

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// newJob returns a job object. When its last handle is closed, which Windows does when a process ends, Windows kills
// the processes in it and all that they started.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	if err := limit(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func limit(job windows.Handle, flags uint32) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags},
	}
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	return err
}

// EndTogether makes Windows kill everything that this process starts from now on when this process ends, however it
// ends. It cannot be undone.
func EndTogether() error {
	job, err := newJob()
	if err != nil {
		return err
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	return nil // the handle stays open
}

// contain makes Windows kill a command that has just been started, and what it starts from now on, if this process
// ends before release is called. release kills all of them, or lets them go on. If Windows refuses, nothing is killed.
func contain(command *os.Process) (release func(kill bool)) {
	nothing := func(bool) {}
	job, err := newJob()
	if err != nil {
		return nothing
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(command.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nothing
	}
	return func(kill bool) {
		if !kill {
			_ = limit(job, 0)
		}
		_ = windows.CloseHandle(job)
	}
}
