import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  createSafeTerminal,
  createStreamOutput,
  styled,
  writeJson,
  writeTable,
} from './terminal.ts'

/** Returns what `write` writes to a terminal. */
function capture(write: (out: ReturnType<typeof createSafeTerminal>['out']) => void): string {
  let written = ''
  const output = { isTTY: true, write: (text: string) => (written += text) }
  write(createSafeTerminal({ data: '', out: output, err: output }).out)
  return written
}

describe('the outputs of a terminal', () => {
  it.each([
    ['an escape sequence', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['hidden text', '\u001b[8mx', '\\u001b[8mx'],
    ['a control character of eight bits', '\u009b2J', '\\u009b2J'],
    ['a return to the start of the line', 'a\rb', 'a\\rb'],
    ['a reversed direction', '\u202etxt.exe', '\\u202etxt.exe'],
  ])('escape %s', (_, text, expected) => {
    expect(capture(out => out.write(`${text}\n`))).toBe(`${expected}\n`)
  })

  it('keep line breaks, tabs and styles', () => {
    expect(capture(out => out.write(`${styled(out, ['red', 'bold'], 'a')}\tb\n`))).toBe(
      '\u001b[31m\u001b[1ma\u001b[22m\u001b[39m\tb\n',
    )
  })

  it('keep the meaning of JSON', () => {
    const value = { name: '\u001b[2J \u009b \n \u202e' }
    const json = capture(out => writeJson(out, value))
    expect(json).toContain('\\u009b')
    expect(JSON.parse(json)).toEqual(value)
  })
})

describe('the output to a pipe', () => {
  it('is drained once the reader has received what was written', async () => {
    const pipe = new PassThrough({ highWaterMark: 1 })
    const { out } = createSafeTerminal({
      data: '',
      out: createStreamOutput(pipe),
      err: createStreamOutput(pipe),
    })
    await out.drain?.()
    out.write('text')
    const steps: string[] = []
    const drained = out.drain?.().then(() => steps.push('drained'))
    await setImmediate()
    steps.push(String(pipe.read()))
    await drained
    expect(steps).toEqual(['text', 'drained'])
  })
})

describe('a table', () => {
  it('shows a cell with control characters in one line, with aligned columns', () => {
    const rows = [
      ['a\n\u001b[2J', styled({ isTTY: true, write() {} }, 'green', 'b'), 'c'],
      ['d', 'e', 'f'],
    ]
    expect(capture(out => writeTable(out, rows))).toBe(
      'a\\n\\u001b[2J  \u001b[32mb\u001b[39m  c\nd             e  f\n',
    )
  })
})
