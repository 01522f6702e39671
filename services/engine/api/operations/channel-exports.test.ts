import { describe, expect, test } from 'vitest'
import { formatMetadata } from './channel-exports.ts'

const door = {
  name: 'door',
  coords: [
    { x: 0, y: 0 },
    { x: 1, y: 1 },
  ],
}
const yard = {
  name: 'yard',
  coords: [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ],
}
const metadata = {
  'line-crossing': { lines: [door] },
  'detect-zone-intersection': { zones: [yard], region: 'bottom' },
}

describe('static metadata', () => {
  test('is unchanged in format pass', () => {
    expect(formatMetadata(metadata, 'pass')).toEqual(metadata)
  })

  test('is flattened in formatter_a', () => {
    expect(
      formatMetadata({ 'line-crossing': { lines: [door] }, other: { scale: 2 } }, 'formatter_a'),
    ).toEqual({
      'line-crossing.lines.0.name': 'door',
      'line-crossing.lines.0.coords.0.x': 0,
      'line-crossing.lines.0.coords.0.y': 0,
      'line-crossing.lines.0.coords.1.x': 1,
      'line-crossing.lines.0.coords.1.y': 1,
      'other.scale': 2,
    })
  })

  test('is a list of shapes in formatter_b', () => {
    expect(formatMetadata(metadata, 'formatter_b')).toEqual([
      { name: 'door', type: 'line', points: door.coords },
      { name: 'yard', type: 'zone', points: yard.coords },
    ])
  })
})
