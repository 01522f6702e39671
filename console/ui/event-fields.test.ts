import { eventData } from '@eyrie/contract/object'
import { expect, it } from 'vitest'
import { formatOwnFields } from './event-fields.ts'

it('the fields that an element has added to an event are shown, and no others', () => {
  const bbox = { x: 0, y: 0, w: 1, h: 1 }
  const common: Record<string, unknown> & { type: string } = {
    type: 'dwell',
    name: 'door',
    direction: 'up',
    track: 3,
    class: 'person',
    bbox,
  }
  const shown = { ...common, picture: 'a', picture_offset: 1, seq: 7, time: 'now' }
  expect(Object.keys(shown)).toEqual(expect.arrayContaining(Object.keys(eventData.shape)))
  expect(formatOwnFields(shown)).toEqual([])
  const own = {
    dwell_seconds: 12.3456,
    plate: 'B AB 123',
    is_known: false,
    tags: ['a'],
    note: null,
  }
  expect(formatOwnFields({ ...common, ...own })).toEqual([
    'dwell seconds 12.346',
    'plate B AB 123',
    'is known no',
    'tags ["a"]',
  ])
})
