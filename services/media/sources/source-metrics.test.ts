import { expect, it } from 'vitest'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { parseExposition } from '../../../test/fixtures/network/prometheus.ts'

it('source metrics are exposed for every source in the Prometheus text format', async () => {
  const media = await serveMedia()
  const control = await media.connectControl()
  const ball = (id: number) => createDesiredSource({ id, type: 'inf', url: 'test://ball' })
  await control.apply(ball(1), ball(2))
  for (const id of [1, 2]) await control.waitForStatus(id, ({ state }) => state === 'running')
  const response = await fetch(`${media.url}/metrics`)
  expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const families = parseExposition(await response.text())
  expect(families.get('eyrie_media_sources')!.samples.get('state="running"')).toBe(2)
  const others = /^eyrie_media_(sources|record)/
  const perSource = [...families].filter(([name]) => !others.test(name))
  for (const [, { samples }] of perSource) {
    expect([...samples.keys()]).toEqual(['source="1"', 'source="2"'])
  }
  expect(families.get('eyrie_media_viewers')!.samples.get('source="1"')).toBe(0)
})
