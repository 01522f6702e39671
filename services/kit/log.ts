import { type Logger, pino } from 'pino'

/** Writes log entries with fields, such as `log.info({ port }, 'listening')`. */
export type Log = Logger

/** Creates a logger that writes JSON lines to stdout, which the supervisor collects and formats. */
export function createLog(service: string, level = 'info'): Log {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['*.password', '*.token', '*.authorization'], censor: '***' },
  })
}
