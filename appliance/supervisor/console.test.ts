import { describe, expect, it } from 'vitest'
import { createConsole, printer } from './console.ts'

function recorded(colours = false) {
  const lines: string[] = []
  const noon = new Date(2026, 0, 2, 12, 0, 0)
  return {
    lines,
    log: createConsole([printer(line => lines.push(line), colours)], () => noon),
  }
}

describe('the readable log', () => {
  it('turns a record of a service into one line with its fields at the end', () => {
    const { lines, log } = recorded()
    const time = new Date(2026, 0, 2, 3, 4, 5).toISOString()
    log.line(
      'media',
      JSON.stringify({ level: 40, time, service: 'media', source: 3, reason: 'refused', msg: 'camera lost' }),
    )
    expect(lines).toEqual(['03:04:05 media      ! camera lost source=3 reason=refused'])
  })

  it('hands on what is no record, such as the last words of a crash', () => {
    const { lines, log } = recorded()
    log.line('engine', 'Segmentation fault')
    log.line('engine', '   ')
    log.line('engine', '{"level":')
    expect(lines).toEqual(['12:00:00 engine       Segmentation fault', '12:00:00 engine       {"level":'])
  })

  it('marks errors and uses colours only when asked', () => {
    const plain = recorded()
    plain.log.error('supervisor', 'port 8080 is taken')
    expect(plain.lines).toEqual(['12:00:00 supervisor ✗ port 8080 is taken'])
    const coloured = recorded(true)
    coloured.log.error('supervisor', 'port 8080 is taken')
    expect(coloured.lines[0]).toContain('\u001b[31m✗')
  })
})
