import { type Logger, pino } from 'pino'

export type Log = Logger

/** One JSON line an event on stdout; the supervisor turns them into one readable log. */
export function createLog(service: string, level = 'info'): Log {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['*.password', '*.token', '*.authorization'], censor: '***' },
  })
}
