import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { median } from '../bench/bench.ts'
import { residentMemory } from '../bench/cpu.ts'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import { findServicePid } from '../fixtures/processes/processes.ts'

const sampleIntervalMs = 5_000
const services = ['media', 'engine', 'management', 'scheduler'] as const
/**
 * Tolerated growth from the second fifth of the run to the last. The engine's heap
 * fluctuates by 20 MiB.
 */
const maxGrowthBytes = 32 << 20

/** Analyses the looped scene. Resolves with whether no service grew or restarted. */
export async function soakMemory(minutes: number): Promise<boolean> {
  const scene = await renderTestScene()
  const appliance = await startAppliance({
    source: scene.video,
    model: 'scene-detector',
  })
  const samples: Record<string, number[]> = Object.fromEntries(
    services.map(service => [service, []]),
  )
  try {
    await appliance.waitForLine(/ready: open/)
    console.log(`analysing ${pathToFileURL(scene.video).href} for ${minutes} minutes`)
    const end = Date.now() + minutes * 60_000
    while (Date.now() < end) {
      await wait(sampleIntervalMs)
      for (const service of services) {
        samples[service]?.push(residentMemory(findServicePid(appliance.data, service)))
      }
    }
  } finally {
    await appliance.remove()
  }

  let hasGrown = false
  for (const [service, values] of Object.entries(samples)) {
    const fifths = [0, 1, 2, 3, 4].map(n =>
      median(values.slice((n * values.length) / 5, ((n + 1) * values.length) / 5)),
    )
    const isFlat = fifths[4]! - fifths[1]! <= maxGrowthBytes
    if (!isFlat) hasGrown = true
    console.log(
      `${isFlat ? 'ok  ' : 'FAIL'} ${service}, median of each fifth: ${fifths.map(megabytes).join(', ')}`,
    )
  }
  const restarts = appliance.lines.filter(line => /process exited; restarting/.test(line))
  if (restarts.length > 0) console.log(`FAIL restarts:\n${restarts.join('\n')}`)
  return !hasGrown && restarts.length === 0
}

const megabytes = (bytes: number) => `${(bytes / (1 << 20)).toFixed(1)} MiB`
