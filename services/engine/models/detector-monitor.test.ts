import type { Frame, ModelRequest } from '@eyrie/element'
import { describe, expect, it, vi } from 'vitest'
import { DetectorMonitor, type OpenDetector } from './detector-monitor.ts'

const request: ModelRequest = { model: 'door', hw: 'auto', mode: 'a' }
const client = { channel: 3, pacing: 'all', priority: () => 5, findRing: () => undefined } as const
const detection = {
  model: 'door-2',
  frame: { n: 1, time: 0 } as Frame,
  thresholds: {},
  detections: { objects: [], lowScoreObjects: [] },
  cpuMs: 1,
}

describe('detector monitor', () => {
  it('counts a model as failed until it runs again, also if its detectors are opened again in between', () => {
    vi.useFakeTimers({ now: 1000 })
    try {
      const monitor = new DetectorMonitor()
      const failures: string[] = []
      monitor.onFailure = model => failures.push(model)
      for (let attempt = 0; attempt < 3; attempt++) {
        const observer = monitor.observe(request, client)
        observer.onFailure('door-2', 'out of memory')
        observer.onClose()
        vi.advanceTimersByTime(1000)
      }
      monitor.observe(request, client).onDetection(detection)
      vi.advanceTimersByTime(1000)
      expect(failures).toEqual(['door', 'door', 'door'])
      expect(monitor.health.summarize('door', 'door-2', 0)).toEqual({
        failures: 3,
        failedMs: 3000,
        observedMs: 4000,
        channels: [3],
        lastReason: 'out of memory',
      })
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends the outage of a channel that has ended', () => {
    vi.useFakeTimers({ now: 1000 })
    try {
      const monitor = new DetectorMonitor()
      const observer = monitor.observe(request, client)
      observer.onFailure('door-2', 'out of memory')
      observer.onClose()
      vi.advanceTimersByTime(120_000)
      expect(monitor.health.summarize('door', 'door-2', 0)).toMatchObject({
        failures: 1,
        failedMs: 60_000,
      })
    } finally {
      vi.useRealTimers()
    }
  })

  it('lets a reader follow the present and later detectors of a model', () => {
    const monitor = new DetectorMonitor()
    const calls: unknown[] = []
    const note = (name: string) => (detector: OpenDetector) => {
      calls.push([name, detector.request.model])
    }
    const present = monitor.observe(request, client)
    monitor.observe({ ...request, model: 'window' }, client)
    const end = monitor.listen('door', {
      onOpen: note('open'),
      onDetection: note('detection'),
      onFailure: note('failure'),
      onClose: note('close'),
    })
    present.onDetection(detection)
    present.onClose()
    monitor.observe(request, client)
    end()
    monitor.observe(request, client)
    expect(calls).toEqual([
      ['open', 'door'],
      ['detection', 'door'],
      ['close', 'door'],
      ['open', 'door'],
    ])
  })
})
