import { describe, expect, it } from 'vitest'
import { LogIntake } from './log-intake.ts'

function createIntake() {
  const logged: [level: string, fields: object, message: string][] = []
  const at = (level: string) => (fields: object, message: string) =>
    void logged.push([level, fields, message])
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { logged, intake: new LogIntake(log, { plugin: 'probe' }, 0) }
}

describe('log intake', () => {
  it('adds the plugin to entries, also to entries in the name of another plugin', () => {
    const { logged, intake } = createIntake()
    intake.write('info', { plugin: 'motion', level: 3 }, 'x'.repeat(5000))
    intake.write('warn', 'no object', { toString: () => 'text' })
    expect(logged).toEqual([
      ['info', { plugin: 'probe', level: 3 }, 'x'.repeat(2000)],
      ['warn', { plugin: 'probe' }, 'text'],
    ])
  })

  it('suppresses entries beyond the limit, and reports how many', () => {
    const { logged, intake } = createIntake()
    const admitted = Array.from({ length: 300 }, () => intake.countEntry(0)).filter(Boolean)
    expect(admitted).toHaveLength(100)
    expect(intake.countEntry(1000)).toBe(true)
    expect(logged).toEqual([
      ['warn', { plugin: 'probe', suppressed: 200 }, 'suppressed log entries of plugin'],
    ])
  })

  it('names a flood', () => {
    const { intake } = createIntake()
    expect(intake.countBytes(4 << 20, 0)).toBeUndefined()
    expect(intake.countBytes(1, 0)).toBe('it writes more than 256 KiB of log per second')
  })
})
