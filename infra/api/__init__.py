"""The API of a region: routes, function, access policy, authorizer and web ACL."""
