import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom } from '../testing.ts'
import { Coordinate } from './kalman.ts'

const noise = { measured: 0.1, velocity: 3, acceleration: 0.5, wander: 0 }

test('finds position and velocity of what moves steadily', () => {
  const coordinate = new Coordinate(0, noise)
  for (let t = 0.1; t < 5.05; t += 0.1) {
    coordinate.predict(0.1)
    coordinate.correct(2 * t)
  }
  expect(coordinate.position).toBeCloseTo(10, 3)
  expect(coordinate.velocity).toBeCloseTo(2, 3)
})

test('is nearer to the truth than what it is told', () => {
  const { gauss } = createRandom(1)
  const coordinate = new Coordinate(0, noise)
  let measuredError = 0
  let error = 0
  for (let i = 1; i <= 500; i++) {
    const truth = 0.05 * i
    const measured = truth + 0.1 * gauss()
    coordinate.predict(0.1)
    coordinate.correct(measured)
    measuredError += (measured - truth) ** 2
    error += (coordinate.position - truth) ** 2
  }
  expect(error).toBeLessThan(measuredError / 2)
})

test('knows how sure it is: nine out of ten errors lie within two deviations', () => {
  const { gauss } = createRandom(1)
  const coordinate = new Coordinate(0, noise)
  let within = 0
  for (let i = 1; i <= 500; i++) {
    coordinate.predict(0.1)
    coordinate.correct(0.05 * i + 0.1 * gauss())
    if (Math.abs(coordinate.position - 0.05 * i) < 2 * coordinate.deviation) within += 1
  }
  expect(within).toBeGreaterThan(450)
})

test('grows less sure while it is told nothing, and sure again', () => {
  const coordinate = new Coordinate(0, noise)
  const atFirst = coordinate.deviation
  coordinate.predict(1)
  const later = coordinate.deviation
  expect(later).toBeGreaterThan(atFirst)
  coordinate.correct(0)
  expect(coordinate.deviation).toBeLessThan(atFirst)
})

test('what only wanders has no velocity', () => {
  const coordinate = new Coordinate(1, { measured: 0.1, velocity: 0, acceleration: 0, wander: 0.3 })
  for (let size = 1; size > 0.5; size -= 0.1) {
    coordinate.predict(0.1)
    coordinate.correct(size)
  }
  const last = coordinate.position
  coordinate.predict(1)
  expect(coordinate.velocity).toBe(0)
  expect(coordinate.position).toBe(last)
})

test('a copy knows as much, and goes its own way from then on', () => {
  const coordinate = new Coordinate(0, noise)
  coordinate.predict(0.1)
  coordinate.correct(0.2)
  const copy = coordinate.copy()
  coordinate.predict(1)
  copy.predict(1)
  expect([copy.position, copy.velocity, copy.deviation]).toEqual([
    coordinate.position,
    coordinate.velocity,
    coordinate.deviation,
  ])
  coordinate.correct(5)
  expect(copy.position).toBeLessThan(coordinate.position)
})

test('a dropped frame changes nothing: two predictions are the same as one over both times', () => {
  const seconds = fc.double({ min: 0.001, max: 2, noNaN: true })
  fc.assert(
    fc.property(seconds, seconds, (first, second) => {
      const atOnce = new Coordinate(0, { ...noise, wander: 0.2 })
      const inSteps = new Coordinate(0, { ...noise, wander: 0.2 })
      for (const coordinate of [atOnce, inSteps]) {
        coordinate.predict(0.1)
        coordinate.correct(0.3)
      }
      atOnce.predict(first + second)
      inSteps.predict(first)
      inSteps.predict(second)
      expect(inSteps.position).toBeCloseTo(atOnce.position, 9)
      expect(inSteps.deviation).toBeCloseTo(atOnce.deviation, 9)
      for (const coordinate of [atOnce, inSteps]) coordinate.correct(1)
      expect(inSteps.velocity).toBeCloseTo(atOnce.velocity, 9)
    }),
  )
})
