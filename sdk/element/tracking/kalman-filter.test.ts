import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../testing/test-kit.ts'
import { KalmanFilter } from './kalman-filter.ts'

const noise = { measurement: 0.1, initialVelocity: 3, acceleration: 0.5, randomWalk: 0 }

describe('KalmanFilter', () => {
  it('converges to the position and velocity of a uniform motion', () => {
    const filter = new KalmanFilter(0, noise)
    for (let t = 0.1; t < 5.05; t += 0.1) {
      filter.predict(0.1)
      filter.update(2 * t)
    }
    expect(filter.position).toBeCloseTo(10, 3)
    expect(filter.velocity).toBeCloseTo(2, 3)
  })

  it('is more accurate than the measurements', () => {
    const { gauss } = createRandom(1)
    const filter = new KalmanFilter(0, noise)
    let measuredError = 0
    let error = 0
    for (let i = 1; i <= 500; i++) {
      const truth = 0.05 * i
      const measured = truth + 0.1 * gauss()
      filter.predict(0.1)
      filter.update(measured)
      measuredError += (measured - truth) ** 2
      error += (filter.position - truth) ** 2
    }
    expect(error).toBeLessThan(measuredError / 2)
  })

  it('estimates its own error: 90 % lie within two standard deviations', () => {
    const { gauss } = createRandom(1)
    const filter = new KalmanFilter(0, noise)
    let within = 0
    for (let i = 1; i <= 500; i++) {
      filter.predict(0.1)
      filter.update(0.05 * i + 0.1 * gauss())
      if (Math.abs(filter.position - 0.05 * i) < 2 * filter.standardDeviation) within += 1
    }
    expect(within).toBeGreaterThan(450)
  })

  it('becomes less certain without measurements and more certain with the next one', () => {
    const filter = new KalmanFilter(0, noise)
    const initial = filter.standardDeviation
    filter.predict(1)
    const predicted = filter.standardDeviation
    expect(predicted).toBeGreaterThan(initial)
    filter.update(0)
    expect(filter.standardDeviation).toBeLessThan(initial)
  })

  it('keeps a velocity of 0 under a pure random walk', () => {
    const filter = new KalmanFilter(1, {
      measurement: 0.1,
      initialVelocity: 0,
      acceleration: 0,
      randomWalk: 0.3,
    })
    for (let size = 1; size > 0.5; size -= 0.1) {
      filter.predict(0.1)
      filter.update(size)
    }
    const before = filter.position
    filter.predict(1)
    expect(filter.velocity).toBe(0)
    expect(filter.position).toBe(before)
  })

  it('clones its state into an independent filter', () => {
    const filter = new KalmanFilter(0, noise)
    filter.predict(0.1)
    filter.update(0.2)
    const clone = filter.clone()
    filter.predict(1)
    clone.predict(1)
    expect([clone.position, clone.velocity, clone.standardDeviation]).toEqual([
      filter.position,
      filter.velocity,
      filter.standardDeviation,
    ])
    filter.update(5)
    expect(clone.position).toBeLessThan(filter.position)
  })

  it('predicts the same over two intervals as over their sum', () => {
    const seconds = fc.double({ min: 0.001, max: 2, noNaN: true })
    fc.assert(
      fc.property(seconds, seconds, (first, second) => {
        const once = new KalmanFilter(0, { ...noise, randomWalk: 0.2 })
        const twice = new KalmanFilter(0, { ...noise, randomWalk: 0.2 })
        for (const filter of [once, twice]) {
          filter.predict(0.1)
          filter.update(0.3)
        }
        once.predict(first + second)
        twice.predict(first)
        twice.predict(second)
        expect(twice.position).toBeCloseTo(once.position, 9)
        expect(twice.standardDeviation).toBeCloseTo(once.standardDeviation, 9)
        for (const filter of [once, twice]) filter.update(1)
        expect(twice.velocity).toBeCloseTo(once.velocity, 9)
      }),
    )
  })
})
