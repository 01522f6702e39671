import { setInterval } from 'node:timers/promises'
import { type LogRecord, parseLogRecord } from '@eyrie/contract/log-record'
import { getLogFiles } from '../logs/log-files.ts'
import { openLogTail } from '../logs/log-tail.ts'

const POLL_INTERVAL_MS = 100

/**
 * Reports what a plugin writes to the log of the appliance on this machine from now on. Returns
 * false if this machine has no log, such as when the engine is on another machine.
 */
export async function followElementLog(
  data: string,
  plugin: string,
  onEntry: (record: LogRecord) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const tail = await openLogTail(getLogFiles(data)).catch(() => undefined)
  if (!tail) return false
  await tail.read()
  void (async () => {
    try {
      for await (const _ of setInterval(POLL_INTERVAL_MS, undefined, { signal })) {
        for (const line of await tail.read()) {
          const record = parseLogRecord(line)
          if (record?.plugin === plugin) onEntry(record)
        }
      }
    } catch {
      // The signal has ended it.
    } finally {
      await tail.close()
    }
  })()
  return true
}
