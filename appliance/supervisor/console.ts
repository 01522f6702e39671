import { styleText } from 'node:util'
import { z } from 'zod'
import { parseJson } from './parse-json.ts'

/** What the supervisor prints: one readable log of all services. */
export interface Console {
  line(service: string, line: string): void
  info(service: string, message: string): void
  warn(service: string, message: string): void
  error(service: string, message: string): void
}

/** A line of pino's: levels 30 info, 40 warn, 50 error, 60 fatal. */
const record = z.looseObject({ level: z.number(), time: z.string(), msg: z.string().default('') })

const level = (number: number) =>
  number >= 50 ? 'error' : number >= 40 ? 'warn' : number >= 30 ? 'info' : 'debug'
const unsaid = new Set(['level', 'time', 'msg', 'service', 'err', 'pid', 'hostname'])

/** `write` takes whole lines; `colours` is for terminals. */
export function createConsole(
  write: (line: string) => void,
  colours: boolean,
  now = () => new Date(),
): Console {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text

  const print = (time: Date, service: string, severity: string, message: string, fields = '') => {
    const clock = time.toTimeString().slice(0, 8)
    const mark =
      { error: paint('red', '✗'), warn: paint('yellow', '!'), info: ' ', debug: paint('dim', '·') }[
        severity
      ] ?? ' '
    const rest = fields && ` ${paint('dim', fields)}`
    write(`${paint('dim', clock)} ${paint('cyan', service.padEnd(10))} ${mark} ${message}${rest}`)
  }

  const say = (severity: string) => (service: string, message: string) =>
    print(now(), service, severity, message)
  return {
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    line(service, line) {
      if (line.trim() === '') return
      const parsed = record.safeParse(parseJson(line))
      if (!parsed.success) return print(now(), service, 'info', line)
      const { level: number, time, msg } = parsed.data
      print(new Date(time), service, level(number), msg, fieldsOf(parsed.data))
    },
  }
}

/** `key=value` for everything that a log record says besides its message. */
function fieldsOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .filter(([key]) => !unsaid.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
}
