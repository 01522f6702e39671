import type { ISql } from 'postgres'
import { questions, type Rule, rights } from './rights.ts'

/** The tables of the schema that have no rights: what they hold is nobody's. */
export const withoutRights: readonly string[] = ['migration']

/** Makes the row-level security what `rights.ts` says, whatever it was before. */
export async function applyRights(sql: ISql): Promise<void> {
  await sql
    .unsafe([questions, ...Object.entries(rights).map(policiesOf), guardPartitions].join('\n'))
    .simple()
}

function policiesOf([table, { visible, changeable = visible, made = changeable }]: [string, Rule]): string {
  const name = `"${table}"`
  return `
    alter table ${name} enable row level security, force row level security;
    drop policy if exists visible on ${name};
    drop policy if exists made on ${name};
    drop policy if exists changed on ${name};
    drop policy if exists removed on ${name};
    create policy visible on ${name} for select using (${orSystem(visible)});
    create policy made on ${name} for insert with check (${orSystem(made)});
    create policy changed on ${name} for update using (${orSystem(changeable)});
    create policy removed on ${name} for delete using (${orSystem(changeable)});`
}

/** Who names a partition instead of its table sees nothing. */
const guardPartitions = `
  do $$ declare part regclass; begin
    for part in select oid from pg_class where relispartition and relkind = 'r' loop
      execute format('alter table %s enable row level security, force row level security', part);
    end loop;
  end $$;`

const orSystem = (condition: string) =>
  `(select current_setting('eyrie.scope', true)) = 'all' or (${condition})`
