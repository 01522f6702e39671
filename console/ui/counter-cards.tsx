import type { Shape } from '@eyrie/contract/exports'
import type { Counter, Counters } from '@eyrie/contract/object'
import type { ReadonlySignal } from '@preact/signals'
import './counter-cards.css'

interface CounterCardsProps {
  /** The counters by the name of their line or zone. */
  counters: ReadonlySignal<Counters>
  /** The configured lines and zones. */
  shapes: readonly Shape[]
}

/** A card with the counters of each line and zone. Before the first count, the cards are empty. */
export function CounterCards({ counters, shapes }: CounterCardsProps) {
  const counted = Object.entries(counters.value)
  const empty = shapes.map(({ name }): [string, Counter] => [name, {}])
  const cards = counted.length > 0 ? counted : empty
  if (cards.length === 0) return null
  const getType = (name: string) => shapes.find(shape => shape.name === name)?.type

  return (
    <section class="counter-cards" aria-label="Counts">
      {cards.map(([name, counter]) => (
        <div key={name} class="card">
          <h2>
            {name} <small>{getType(name)}</small>
          </h2>
          <dl>
            {Object.entries(counter).map(([quantity, count]) => (
              <div key={quantity}>
                <dd>
                  {Number.isInteger(count) ? count : count.toFixed(1)}
                  {quantity === 'dwell_time' && <small> s</small>}
                </dd>
                <dt>{quantity.replaceAll('_', ' ')}</dt>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </section>
  )
}
