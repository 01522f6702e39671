import type { PlacementOverview } from '@eyrie/contract/management/placement'
import { useSignal } from '@preact/signals'
import { callOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'
import { formatCores } from './format-placement.ts'

interface CameraTableProps {
  overview: PlacementOverview
  onChanged(): Promise<void>
}

/**
 * Lists the cameras with their channels and engines. The user can change the engine of a
 * camera, and who chooses it.
 */
export function CameraTable({ overview, onChanged }: CameraTableProps) {
  const error = useSignal('')
  const { sites, engines, sources } = overview
  if (sources.length === 0) return null
  const siteNames = new Map(sites.map(({ site_id, site_name }) => [site_id, site_name]))

  /**
   * Changes fields of a camera, and then loads the overview again. After a failure, this shows the
   * present values in the selects, which have already changed.
   */
  const change = async (sourceId: string, fields: object) => {
    error.value = ''
    try {
      await callOperation('/placement/update-source', { source_id: sourceId, ...fields })
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    }
    await onChanged()
  }

  return (
    <section class="panel" aria-label="Cameras">
      <h2>Cameras</h2>
      <table>
        <thead>
          <tr>
            <th>Camera</th>
            <th>Channels</th>
            <th class="figure">Cores</th>
            <th>Engine</th>
            <th>Who chooses the engine</th>
          </tr>
        </thead>
        <tbody>
          {sources.map(source => (
            <CameraRow
              key={source.source_id}
              source={source}
              siteName={siteNames.get(source.site_id)}
              engines={engines}
              onChange={fields => change(source.source_id, fields)}
            />
          ))}
        </tbody>
      </table>
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
    </section>
  )
}

interface CameraRowProps {
  source: PlacementOverview['sources'][number]
  siteName: string | undefined
  engines: PlacementOverview['engines']
  onChange(fields: object): void
}

function CameraRow({ source, siteName, engines, onChange }: CameraRowProps) {
  const { source_name, engine_id, source_placement, cores, channels } = source
  return (
    <tr>
      <td>
        {source_name} <small>{siteName}</small>
      </td>
      <td>
        {channels.length === 0 && '–'}
        {channels.map(({ channel_id, channel_name, is_active }) => (
          <span key={channel_id} class={`status ${is_active ? 'running' : ''}`}>
            {channel_name}
          </span>
        ))}
      </td>
      <td class="figure" data-label="Cores">
        {cores === null ? '–' : formatCores(cores)}
      </td>
      <td>
        <select
          aria-label={`Engine of ${source_name}`}
          value={engine_id}
          onChange={event => onChange({ engine_id: event.currentTarget.value })}
        >
          {engines.map(engine => (
            <option key={engine.engine_id} value={engine.engine_id}>
              {engine.engine_name}
            </option>
          ))}
        </select>
      </td>
      <td>
        <select
          aria-label={`Who chooses the engine of ${source_name}`}
          value={source_placement ?? ''}
          onChange={event => onChange({ source_placement: event.currentTarget.value || null })}
        >
          <option value="">as for the site</option>
          <option value="pinned">a person (pinned)</option>
          <option value="automatic">management (automatic)</option>
        </select>
      </td>
    </tr>
  )
}
