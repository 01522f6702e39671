import type { PlacementOverview } from '@eyrie/contract/management/placement'
import { useSignal } from '@preact/signals'
import { callOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'

interface SiteRulesProps {
  sites: PlacementOverview['sites']
  onChanged(): Promise<void>
}

/**
 * Lists the sites. The user can change who chooses their engines, and whether their cameras are
 * spread over the engines.
 */
export function SiteRules({ sites, onChanged }: SiteRulesProps) {
  const error = useSignal('')
  if (sites.length === 0) return null

  /**
   * Changes fields of a site, and then loads the overview again. After a failure, this shows the
   * present values in the controls, which have already changed.
   */
  const change = async (siteId: string, fields: object) => {
    error.value = ''
    try {
      await callOperation('/placement/update-site', { site_id: siteId, ...fields })
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    }
    await onChanged()
  }

  return (
    <section class="panel" aria-label="Sites">
      <h2>Sites</h2>
      <table>
        <thead>
          <tr>
            <th>Site</th>
            <th>Who chooses the engines</th>
            <th>Distribution</th>
          </tr>
        </thead>
        <tbody>
          {sites.map(site => (
            <SiteRow
              key={site.site_id}
              site={site}
              onChange={fields => change(site.site_id, fields)}
            />
          ))}
        </tbody>
      </table>
      <p class="hint">
        Management moves the cameras of automatic sites when their engine is unreachable for 15
        seconds, and offers to move them when another engine has more free capacity.
      </p>
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
    </section>
  )
}

interface SiteRowProps {
  site: PlacementOverview['sites'][number]
  onChange(fields: object): void
}

function SiteRow({ site, onChange }: SiteRowProps) {
  const { site_name, site_placement, site_is_spread } = site
  return (
    <tr>
      <td>{site_name}</td>
      <td>
        <select
          aria-label={`Who chooses the engines of ${site_name}`}
          value={site_placement}
          onChange={event => onChange({ site_placement: event.currentTarget.value })}
        >
          <option value="pinned">a person (pinned)</option>
          <option value="automatic">management (automatic)</option>
        </select>
      </td>
      <td>
        <label class="switch">
          <input
            type="checkbox"
            aria-label={`Spread ${site_name} over the engines`}
            checked={site_is_spread}
            onChange={event => onChange({ site_is_spread: event.currentTarget.checked })}
          />
          spread over the engines
        </label>
      </td>
    </tr>
  )
}
