import { capabilities } from '@eyrie/contract/plugin'
import { viewSpec } from '@eyrie/contract/view'
import { describe, expect, it } from 'vitest'
import { checkDeclared, checkView } from './capability-check.ts'

const declared = capabilities.parse({
  frames: { format: 'RGB', width: 640, height: 360 },
  events: { crowd: { count: 'number', place: 'any' } },
  counters: ['entered'],
})

describe('capability check', () => {
  it.each([
    [{ width: 640, height: 360 }, undefined],
    [{ width: 320, height: 180 }, undefined],
    [{ width: 641, height: 360 }, /641×360.*RGB of at most 640×360/],
    [{ width: 640 }, /640×any height/],
    [{ scale: 1 }, /any width×any height/],
    [{ width: 640, height: 360, format: 'JPEG' }, /format JPEG.*RGB of at most/],
  ])('compares the view %o with the declared frames', (view, reason) => {
    const found = checkView(declared, viewSpec.parse({ format: 'RGB', ...view }))
    if (reason) expect(found).toMatch(reason)
    else expect(found).toBeUndefined()
  })

  it('refuses pictures that are not declared', () => {
    const none = capabilities.parse({})
    expect(checkView(none, viewSpec.parse({ format: 'RGB', width: 1, height: 1 }))).toMatch(
      /does not declare/,
    )
  })

  it.each<[result: unknown, reason?: RegExp]>([
    [{}],
    [{ events: [{ type: 'crowd', name: 'gate', count: 3, place: { x: 1 } }] }],
    [{ counters: { gate: { entered: 1 }, door: { entered: 2 } } }],
    [{ events: [{ type: 'fire' }] }, /type fire, which its manifest does not declare/],
    [{ events: [{ type: 'constructor' }] }, /type constructor/],
    [{ events: [{ type: 'crowd', face: 1 }] }, /field face/],
    [{ events: [{ type: 'crowd', count: '3' }] }, /field count of its crowd events is no number/],
    [{ counters: { gate: { left: 1 } } }, /counts left/],
    // Invalid results are rejected by the validation that follows.
    [null],
    [1],
    [{ events: 1 }],
    [{ events: [null] }],
    [{ counters: { gate: null } }],
  ])('compares the result %o with the declared events and counters', (result, reason) => {
    expect(checkDeclared(declared, result) ?? '').toMatch(reason ?? /^$/)
  })

  it.each<[result: unknown, line: string]>([
    [
      { events: [{ type: 'fire', name: 'hall', heat: 3, seen: [1] }] },
      '"events": { "crowd": { "count": "number", "place": "any" }, "fire": { "heat": "number", "seen": "any" } }',
    ],
    [
      { events: [{ type: 'crowd', face: 'x' }] },
      '"events": { "crowd": { "count": "number", "place": "any", "face": "string" } }',
    ],
    [{ counters: { gate: { left: 1 } } }, '"counters": ["entered", "left"]'],
  ])('proposes the line of the manifest that declares %o', (result, line) => {
    expect(checkDeclared(declared, result)).toContain(
      `: set ${line} in its capabilities in plugin.json`,
    )
  })

  it('proposes the line of the manifest that declares a view', () => {
    const view = viewSpec.parse({ format: 'GRAY8', width: 8, height: 4 })
    expect(checkView(capabilities.parse({}), view)).toContain(
      ': set "frames": { "format": "GRAY8", "width": 8, "height": 4 } in its capabilities',
    )
  })
})
