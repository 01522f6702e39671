import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLabelLayout, type LabelRequest, overlaps } from './label-layout.ts'

const canvas = { size: { width: 640, height: 360 }, measure: (text: string) => text.length * 7 }
const request = (key: string, x: number, y: number, height = 100): LabelRequest => ({
  key,
  box: { x, y, width: height / 2, height },
  texts: [`person ${key}`, key],
})

describe('label layout', () => {
  it('places a label above its object when there is room', () => {
    const [label] = createLabelLayout()([request('7', 100, 100)], canvas)
    expect(label).toMatchObject({ text: 'person 7', box: { x: 99, y: 80, height: 18 } })
  })

  it('places labels inside the picture', () => {
    const [label] = createLabelLayout()([request('7', 620, 0, 360)], canvas)
    expect(label!.box.x + label!.box.width).toBeLessThanOrEqual(640)
    expect(label!.box.y).toBeGreaterThanOrEqual(0)
  })

  it('shortens and then omits labels of smaller objects in a crowd', () => {
    const crowd = Array.from({ length: 12 }, (_, n) =>
      request(String(n), 300 + n, 200 - n, 100 - n),
    )
    const labels = createLabelLayout()(crowd, canvas)
    expect(labels[0]).toMatchObject({ key: '0', text: 'person 0' })
    expect(labels.length).toBeLessThan(crowd.length)
  })

  it('uses small, short labels for small objects and none for tiny ones', () => {
    const labels = createLabelLayout()(
      [request('1', 100, 100, 40), request('2', 300, 100, 10)],
      canvas,
    )
    expect(labels.map(({ text, font }) => [text, font.height])).toEqual([['1', 14]])
  })

  it('does not overlap reserved boxes', () => {
    const reserved = { x: 90, y: 75, width: 100, height: 20 }
    const [label] = createLabelLayout()([request('7', 100, 100)], canvas, [reserved])
    expect(overlaps(label!.box, reserved)).toBe(false)
  })

  it('prefers the position of the previous frame, even if a better one becomes free', () => {
    const placeLabels = createLabelLayout()
    const reserved = { x: 90, y: 75, width: 100, height: 20 }
    const [first] = placeLabels([request('7', 100, 100)], canvas, [reserved])
    const [second] = placeLabels([request('7', 101, 100)], canvas)
    expect(second!.box.y).toBe(first!.box.y)
  })

  it('never lets two labels overlap', () => {
    const objects = fc.array(
      fc.record({
        x: fc.integer({ min: 0, max: 600 }),
        y: fc.integer({ min: 0, max: 340 }),
        height: fc.integer({ min: 5, max: 200 }),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(objects, crowd => {
        const labels = createLabelLayout()(
          crowd.map(({ x, y, height }, n) => request(String(n), x, y, height)),
          canvas,
        )
        for (const [n, a] of labels.entries()) {
          for (const b of labels.slice(n + 1)) expect(overlaps(a.box, b.box)).toBe(false)
        }
      }),
    )
  })
})
