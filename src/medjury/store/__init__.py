"""What is kept: ratings and the store that only grows (`ratings`), the folder of a run (`runs`)."""
