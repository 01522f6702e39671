import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const DASHBOARD = 'appliance/docker/monitoring/dashboards/eyrie.json'

test('the dashboard shows metrics that the services have', () => {
  const dashboard = readFileSync(resolve(ROOT, DASHBOARD), 'utf8')
  const shown = new Set(dashboard.match(/\beyrie_(?!span_)[a-z_]+/g))
  const sources = globSync('services/**/*metrics.ts', { cwd: ROOT }).map(file =>
    readFileSync(resolve(ROOT, file), 'utf8'),
  )
  const existing = new Set(sources.flatMap(text => text.match(/eyrie_[a-z_]+/g) ?? []))
  expect(shown.size).toBeGreaterThan(15)
  expect([...shown].filter(name => !existing.has(name))).toEqual([])
})
