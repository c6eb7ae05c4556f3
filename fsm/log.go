package fsm

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// NewLog returns a sink that writes events as JSON lines to w, in the log's schema:
//
//	{"ts":..., "level":..., "event":..., "request_id":..., "data":{...}}
//
// request_id is left out of the process's own events, data of events that have
// none. Events below the given level are dropped. Each line is one Write.
func NewLog(w io.Writer, least Level) func(Event) {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey:        "ts",
		LevelKey:       "level",
		MessageKey:     "event",
		LineEnding:     "\n",
		EncodeTime:     zapcore.TimeEncoderOfLayout("2006-01-02T15:04:05.000000Z07:00"),
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.MillisDurationEncoder,
	})
	log := zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), zapLevel(least)),
		zap.WithClock(utcClock{zapcore.DefaultClock}), zap.ErrorOutput(zapcore.AddSync(io.Discard)))
	return func(e Event) {
		entry := log.Check(zapLevel(e.Level), e.Name)
		if entry == nil {
			return
		}
		fields := make([]zap.Field, 0, 2)
		if e.RequestID != "" {
			fields = append(fields, zap.String("request_id", e.RequestID))
		}
		if len(e.Data) > 0 {
			fields = append(fields, zap.Reflect("data", e.Data))
		}
		entry.Write(fields...)
	}
}

func zapLevel(l Level) zapcore.Level {
	switch l {
	case Debug:
		return zapcore.DebugLevel
	case Warn:
		return zapcore.WarnLevel
	case Error:
		return zapcore.ErrorLevel
	default:
		return zapcore.InfoLevel
	}
}

// utcClock gives the log times that read the same everywhere.
type utcClock struct{ zapcore.Clock }

func (c utcClock) Now() time.Time { return c.Clock.Now().UTC() }
