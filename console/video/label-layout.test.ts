import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLabelling, type LabelWish, overlap } from './label-layout.ts'

const room = { size: { width: 640, height: 360 }, measure: (text: string) => text.length * 7 }
const wish = (key: string, x: number, y: number, height = 100): LabelWish => ({
  key,
  box: { x, y, width: height / 2, height },
  texts: [`person ${key}`, key],
})

describe('labels', () => {
  it('stand above what they name where there is room', () => {
    const [label] = createLabelling()([wish('7', 100, 100)], room)
    expect(label).toMatchObject({ text: 'person 7', box: { x: 99, y: 80, height: 18 } })
  })

  it('stay inside the picture', () => {
    const [label] = createLabelling()([wish('7', 620, 0, 360)], room)
    expect(label!.box.x + label!.box.width).toBeLessThanOrEqual(640)
    expect(label!.box.y).toBeGreaterThanOrEqual(0)
  })

  it('give way to what is nearer, then say less, then nothing', () => {
    const crowd = Array.from({ length: 12 }, (_, n) => wish(String(n), 300 + n, 200 - n, 100 - n))
    const labels = createLabelling()(crowd, room)
    expect(labels[0]).toMatchObject({ key: '0', text: 'person 0' })
    expect(labels.length).toBeLessThan(crowd.length)
  })

  it('are small and short for what is far, and none for what is tiny', () => {
    const labels = createLabelling()([wish('1', 100, 100, 40), wish('2', 300, 100, 10)], room)
    expect(labels.map(({ text, font }) => [text, font.height])).toEqual([['1', 14]])
  })

  it('leave room for what is labelled already', () => {
    const reserved = { x: 90, y: 75, width: 100, height: 20 }
    const [label] = createLabelling()([wish('7', 100, 100)], room, [reserved])
    expect(overlap(label!.box, reserved)).toBe(false)
  })

  it('stay where they were while there is room, also when the better place is free again', () => {
    const place = createLabelling()
    const reserved = { x: 90, y: 75, width: 100, height: 20 }
    const [first] = place([wish('7', 100, 100)], room, [reserved])
    const [second] = place([wish('7', 101, 100)], room)
    expect(second!.box.y).toBe(first!.box.y)
  })

  it('never lie on each other', () => {
    const wishes = fc.array(
      fc.record({
        x: fc.integer({ min: 0, max: 600 }),
        y: fc.integer({ min: 0, max: 340 }),
        height: fc.integer({ min: 5, max: 200 }),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(wishes, crowd => {
        const labels = createLabelling()(
          crowd.map(({ x, y, height }, n) => wish(String(n), x, y, height)),
          room,
        )
        for (const [n, a] of labels.entries())
          for (const b of labels.slice(n + 1)) expect(overlap(a.box, b.box)).toBe(false)
      }),
    )
  })
})
