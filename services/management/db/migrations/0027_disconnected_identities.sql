-- Who may set the password of a user may also disconnect the user from the identity provider.

drop policy removed on user_identity;
create policy removed on user_identity for delete using (
  (select current_setting('eyrie.scope', true)) = 'all' or administers(user_id));
