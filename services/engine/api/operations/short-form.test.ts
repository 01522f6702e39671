import { describe, expect, test } from 'vitest'
import { discoverElements } from '../../../../test/fixtures/engine/known-elements.ts'
import { createCatalog } from '../../catalog/catalog.ts'
import { expandElement } from './short-form.ts'

const elements = createCatalog({
  elements: discoverElements(),
  models: { list: () => [], get: () => undefined },
  inference: { devices: () => [{ type: 'cpu', current_models: 0, isolation: 'full' }] },
}).elements()

describe('short form of an element', () => {
  test.each([
    ['object-tracking', { name: 'object-tracking' }],
    ['object-tracking:20', { name: 'object-tracking', args: { max_age: 20 } }],
    [
      'infer:person:cpu:s:0.5',
      { name: 'infer', args: { model: 'person', hw: 'cpu', mode: 's', score_threshold: 0.5 } },
    ],
    ['infer:person::s', { name: 'infer', args: { model: 'person', mode: 's' } }],
    ['infer:7', { name: 'infer', args: { model: '7' } }],
    ['image-resize:640:360', { name: 'image-resize', args: { width: 640, height: 360 } }],
    ['image-resize:0.5', { name: 'image-resize', args: { scale: 0.5 } }],
    [
      'line-crossing:[1]:10:top',
      { name: 'line-crossing', args: { directions: [1], history: 10, region: 'top' } },
    ],
    ['object-tracking:soon', { name: 'object-tracking', args: { max_age: 'soon' } }],
    ['no-such-element:1', { name: 'no-such-element' }],
  ])('expands %s in the order of the schema', (short, long) => {
    expect(expandElement(short, elements, '/elements/0')).toEqual(long)
  })

  test('is rejected with too many arguments', () => {
    expect(() => expandElement('image-resize:1:2:3', elements, '/elements/4')).toThrow(
      '/elements/4: image-resize accepts at most 2 arguments: image-resize:width:height',
    )
  })

  test('returns the long form unchanged', () => {
    const element = { name: 'infer', args: { model: 'person' }, config: {} }
    expect(expandElement(element, elements, '/elements/0')).toBe(element)
  })
})
