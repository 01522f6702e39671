import type { Isolation, IsolationLevel } from '@eyrie/contract/health'
import type { Plugin } from '@eyrie/contract/plugin'
import { capitalize } from '../ui/format.ts'
import { PluginVersionRow } from './plugin-version-row.tsx'
import type { ListedEngine } from './use-engine-plugins.ts'
import '../ui/status.css'

/** Lists the plugins of one engine: added plugins in a table, and built-in plugins by name. */
export function EnginePanel({ engine, plugins: list, error }: ListedEngine) {
  const added = list?.plugins.filter(plugin => !isBuiltIn(plugin)) ?? []
  const builtIn = list?.plugins.filter(isBuiltIn) ?? []
  return (
    <section class="panel" aria-label={engine.engine_name}>
      <h2>{engine.engine_name}</h2>
      {error && (
        <p class="error" role="alert">
          {capitalize(error)}
        </p>
      )}
      {list?.isolation && <IsolationStatus isolation={list.isolation} />}
      {list && added.length === 0 && <p>Only built-in plugins are installed.</p>}
      {added.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Plugin</th>
              <th>State</th>
              <th>What it can use and report</th>
            </tr>
          </thead>
          <tbody>
            {added.flatMap(plugin =>
              plugin.versions.map(installed => (
                <PluginVersionRow
                  key={`${plugin.name} ${installed.version}`}
                  plugin={plugin}
                  installed={installed}
                />
              )),
            )}
          </tbody>
        </table>
      )}
      {builtIn.length > 0 && (
        <p class="hint">Built in: {builtIn.map(({ name }) => name).join(', ')}</p>
      )}
    </section>
  )
}

/** Whether Eyrie contains a plugin, and no other version of it was added. */
const isBuiltIn = ({ versions }: Plugin) => versions.every(({ origin }) => origin === 'built-in')

const LEVEL_CLASSES: Record<IsolationLevel, string> = {
  full: 'running',
  partial: 'degraded',
  none: 'failed',
}

function IsolationStatus({ isolation: { level, missing } }: { isolation: Isolation }) {
  return (
    <div>
      <span class={`status ${LEVEL_CLASSES[level]}`}>isolation of uploaded plugins: {level}</span>
      {missing.length > 0 && (
        <ul class="details">
          {missing.map(gap => (
            <li key={gap}>{capitalize(gap)}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
